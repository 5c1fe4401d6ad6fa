// Command helpers is the small programs that launcher Pods start beside the launcher: one file under several names,
// without a runtime of its own, so that a probe every second costs nothing to speak of.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// programs maps the name a program is started under to what it does. What it returns is the exit code.
var programs = map[string]func(args []string) int{
	"container-disk": containerDisk,
	"virt-tail":      tail,
	"virt-probe":     probe,
	"virt-freezer":   freezer,
}

func main() {
	name := filepath.Base(os.Args[0])
	run, isKnown := programs[name]
	if !isKnown {
		fmt.Fprintf(os.Stderr, "%s: not a helper; link this file as container-disk, virt-tail, virt-probe or virt-freezer\n", name)
		os.Exit(2)
	}
	os.Exit(run(os.Args[1:]))
}

// complain tells what is wrong and gives the exit code for it.
func complain(code int, format string, values ...any) int {
	fmt.Fprintf(os.Stderr, filepath.Base(os.Args[0])+": "+format+"\n", values...)
	return code
}
