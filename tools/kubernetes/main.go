// Command kubernetes is all programs of a small cluster in one: it runs the one whose name it is
// called by, through a link of that name. They share most of their code, so one link step and one
// file take a third of the disk and the memory that separate programs take.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	containerd "github.com/containerd/containerd/v2/cmd/containerd/command"
	ctr "github.com/containerd/containerd/v2/cmd/ctr/app"
	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	kubectl "k8s.io/kubectl/pkg/cmd"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"

	_ "github.com/containerd/containerd/v2/cmd/containerd/builtins"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
)

// programs gives the exit code of each, by name.
var programs = map[string]func() int{
	"kube-apiserver":          cobraProgram(apiserver.NewAPIServerCommand),
	"kube-controller-manager": cobraProgram(controllermanager.NewControllerManagerCommand),
	"kube-scheduler":          cobraProgram(func() *cobra.Command { return scheduler.NewSchedulerCommand() }),
	"kube-proxy":              cobraProgram(proxy.NewProxyCommand),
	"kubelet":                 cobraProgram(func() *cobra.Command { return kubelet.NewKubeletCommand(context.Background()) }),
	"kubectl":                 cobraProgram(kubectl.NewDefaultKubectlCommand),
	"containerd":              argsProgram(func(args []string) error { return containerd.App().Run(args) }),
	"ctr":                     argsProgram(func(args []string) error { return ctr.New().Run(args) }),
	"etcd":                    argsProgram(func(args []string) error { etcdmain.Main(args); return nil }),
}

func cobraProgram(command func() *cobra.Command) func() int {
	return func() int { return cli.Run(command()) }
}

func argsProgram(run func(args []string) error) func() int {
	return func() int {
		if err := run(os.Args); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return 0
	}
}

func main() {
	name := filepath.Base(os.Args[0])
	program, known := programs[name]
	if !known {
		names := make([]string, 0, len(programs))
		for each := range programs {
			names = append(names, each)
		}
		slices.Sort(names)
		fmt.Fprintf(os.Stderr, "called by the name %q, which is none of the programs %v\n", name, names)
		os.Exit(2)
	}
	os.Exit(program())
}
