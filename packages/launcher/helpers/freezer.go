package main

import (
	"flag"
	"time"
)

// freezeTimeout is what the launcher gives a guest to freeze its file systems.
const freezeTimeout = 55 * time.Second

// freezer freezes the guest's file systems for a backup, and lets them go on.
func freezer(args []string) int {
	flags := flag.NewFlagSet("virt-freezer", flag.ContinueOnError)
	isFreeze := flags.Bool("freeze", false, "freeze the file systems")
	isUnfreeze := flags.Bool("unfreeze", false, "let them go on")
	flags.String("name", "", "the VMI; there is one in a Pod")
	flags.String("namespace", "", "its namespace")
	seconds := flags.Int("unfreezeTimeoutSeconds", 300, "let them go on after so long if nobody else does")
	if flags.Parse(args) != nil {
		return 2
	}
	if *isFreeze == *isUnfreeze {
		return complain(2, "either --freeze or --unfreeze is needed")
	}
	var err error
	if *isFreeze {
		_, err = ask("freeze", map[string]int{"unfreezeAfterSeconds": *seconds}, freezeTimeout)
	} else {
		_, err = ask("unfreeze", nil, freezeTimeout)
	}
	if err != nil {
		return complain(1, "%v", err)
	}
	return 0
}
