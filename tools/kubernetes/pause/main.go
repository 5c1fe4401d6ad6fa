// Command pause is what a Pod's sandbox runs: it holds the Pod's namespaces, and takes the exit
// codes of processes that lost their parent.
package main

import (
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

func main() {
	ends := make(chan os.Signal, 1)
	signal.Notify(ends, unix.SIGTERM, unix.SIGINT)
	orphans := make(chan os.Signal, 1)
	signal.Notify(orphans, unix.SIGCHLD)
	for {
		select {
		case <-ends:
			return
		case <-orphans:
			for {
				if pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil); err != nil || pid <= 0 {
					break
				}
			}
		}
	}
}
