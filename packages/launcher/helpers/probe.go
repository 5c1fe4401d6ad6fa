package main

import (
	"encoding/json"
	"flag"
	"os"
	"time"
)

// probe asks the guest's agent for the kubelet: whether it answers, or what a command in the guest comes to.
func probe(args []string) int {
	flags := flag.NewFlagSet("virt-probe", flag.ContinueOnError)
	flags.String("domainName", "", "the guest, as NAMESPACE_NAME; there is one in a Pod")
	seconds := flags.Int("timeoutSeconds", 1, "how long the agent may take")
	isPing := flags.Bool("guestAgentPing", false, "ask whether the agent answers")
	command := flags.String("command", "", "a program in the guest; its arguments follow --")
	if flags.Parse(args) != nil {
		return 2
	}
	if *isPing == (*command != "") {
		return complain(2, "either --guestAgentPing or --command is needed")
	}
	// The launcher gives up first, so that its answer says what happened.
	timeout := time.Duration(*seconds)*time.Second + 5*time.Second
	if *isPing {
		if _, err := ask("guestPing", map[string]int{"timeoutSeconds": *seconds}, timeout); err != nil {
			return complain(1, "%v", err)
		}
		return 0
	}
	request := map[string]any{"command": *command, "args": flags.Args(), "timeoutSeconds": *seconds}
	answer, err := ask("exec", request, timeout)
	if err != nil {
		return complain(1, "%v", err)
	}
	var result struct {
		ExitCode int    `json:"exitCode"`
		Stdout   string `json:"stdout"`
	}
	if err := json.Unmarshal(answer, &result); err != nil {
		return complain(1, "the launcher's answer is not an outcome: %v", err)
	}
	os.Stdout.WriteString(result.Stdout)
	return exitCode(result.ExitCode)
}

// exitCode is what a process of this system can end with: the kernel keeps the lowest byte, and 256, which a guest with another
// system may end with, would be success.
func exitCode(ofGuest int) int {
	if ofGuest < 0 || ofGuest > 255 {
		return 1
	}
	return ofGuest
}
