package main

import (
	"errors"
	"flag"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// pollInterval is how often a log is looked at: nobody who reads it notices, and it costs nothing while nothing comes.
const pollInterval = 250 * time.Millisecond

// tail copies a log to standard output from its beginning, as it grows or is replaced, until it is told to end.
func tail(args []string) int {
	flags := flag.NewFlagSet("virt-tail", flag.ContinueOnError)
	path := flags.String("logfile", "", "the log")
	if flags.Parse(args) != nil {
		return 2
	}
	if *path == "" {
		return complain(2, "--logfile is missing")
	}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM, syscall.SIGINT)
	follower := follower{path: *path, out: os.Stdout}
	defer follower.close()
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		if err := follower.copyNew(); err != nil {
			return complain(1, "%v", err)
		}
		select {
		case <-ended:
			// What came last is often what matters.
			if err := follower.copyNew(); err != nil {
				return complain(1, "%v", err)
			}
			return 0
		case <-ticker.C:
		}
	}
}

// follower knows how far a log has been copied.
type follower struct {
	path string
	out  io.Writer
	file *os.File
	at   int64
}

// copyNew copies what has come since the last time. A log that is not there yet has nothing.
func (f *follower) copyNew() error {
	if err := f.open(); err != nil || f.file == nil {
		return err
	}
	info, err := f.file.Stat()
	if err != nil {
		return err
	}
	if info.Size() < f.at {
		// It was emptied and has begun anew.
		f.at = 0
	}
	copied, err := io.Copy(f.out, io.NewSectionReader(f.file, f.at, info.Size()-f.at))
	f.at += copied
	return err
}

// open opens the log, and opens it anew once another file has its name.
func (f *follower) open() error {
	now, err := os.Stat(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if f.file != nil {
		if before, err := f.file.Stat(); err == nil && os.SameFile(before, now) {
			return nil
		}
		if err := f.rest(); err != nil {
			return err
		}
	}
	file, err := os.Open(f.path)
	if err != nil {
		return err
	}
	f.close()
	f.file, f.at = file, 0
	return nil
}

// rest copies what the old file still has when a new one takes its name.
func (f *follower) rest() error {
	info, err := f.file.Stat()
	if err != nil || info.Size() <= f.at {
		return err
	}
	_, err = io.Copy(f.out, io.NewSectionReader(f.file, f.at, info.Size()-f.at))
	return err
}

func (f *follower) close() {
	if f.file != nil {
		f.file.Close()
	}
}
