//go:build tools

package main

// The shim is built by its own package path; this makes go.sum cover it. It cannot be part of the
// one program: a shim starts every plug-in that is linked in.
import _ "github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2"
