package main

import (
	"flag"
	"net"
	"os"
	"os/signal"
	"syscall"
)

// containerDisk keeps the container of a disk's image alive, and with it the image's files, until the Pod ends. It needs
// nothing of that image. Whoever wants to know which process holds the image connects to the socket beside the disk.
func containerDisk(args []string) int {
	flags := flag.NewFlagSet("container-disk", flag.ContinueOnError)
	isNoOp := flags.Bool("no-op", false, "end at once: the image can be pulled")
	copyPath := flags.String("copy-path", "", "the socket is this path with .sock at its end")
	if flags.Parse(args) != nil {
		return 2
	}
	if *isNoOp {
		return 0
	}
	if *copyPath == "" {
		return complain(2, "--copy-path or --no-op is missing")
	}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM, syscall.SIGINT)
	socket := *copyPath + ".sock"
	// Of a container that was started again.
	_ = os.Remove(socket)
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return complain(1, "%v", err)
	}
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			connection.Close()
		}
	}()
	<-ended
	listener.Close()
	return 0
}
