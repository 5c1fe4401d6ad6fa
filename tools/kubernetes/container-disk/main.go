// Command container-disk is what a launcher Pod runs in the image of a container disk, so that the
// kubelet pulls it. It needs nothing of that image. Only the case is there in which the image is a
// volume of the Pod, and nothing is to be done.
package main

import (
	"fmt"
	"os"
	"slices"
)

func main() {
	if slices.Contains(os.Args[1:], "--no-op") {
		return
	}
	fmt.Fprintln(os.Stderr, "container-disk: only --no-op is implemented; turn the feature gate ImageVolume on")
	os.Exit(2)
}
