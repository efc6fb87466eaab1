// SPDX-License-Identifier: MIT

// Package syzkaller feeds the golden reports to syzkaller's own parser of Linux consoles. Each must be
// found, get the title that tests/golden/titles.tsv gives it, and not count as corrupted.
package syzkaller

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/syzkaller/pkg/mgrconfig"
	"github.com/google/syzkaller/pkg/report"
	"github.com/google/syzkaller/sys/targets"
)

// goldenTitles reads titles.tsv: the name of a golden report and its title on each line.
func goldenTitles(t *testing.T, folder string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, "titles.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	titles := make(map[string]string)
	for _, line := range strings.Split(string(text), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, title, found := strings.Cut(line, "\t")
		if !found {
			t.Fatalf("titles.tsv: no tab in %q", line)
		}
		titles[name] = title
	}
	if len(titles) == 0 {
		t.Fatal("titles.tsv names no report")
	}
	return titles
}

func newReporter(t *testing.T) *report.Reporter {
	t.Helper()
	config := &mgrconfig.Config{}
	config.TargetOS = targets.Linux
	config.TargetArch = targets.ARM64
	config.SysTarget = targets.Get(targets.Linux, targets.ARM64)
	reporter, err := report.NewReporter(config)
	if err != nil {
		t.Fatal(err)
	}
	return reporter
}

// repeats returns the lines that kasan.repeat=brief prints for the reports of the console.
func repeats(t *testing.T, console string) string {
	t.Helper()
	var lines strings.Builder
	for _, line := range strings.Split(console, "\n") {
		prefix, bug, found := strings.Cut(line, "BUG: KASAN: ")
		if !found {
			continue
		}
		lines.WriteString(prefix + "KASAN: " + bug + " again (2 times): " +
			"write of size 1 at addr ffff000012345678 by task main/21, " +
			"called by main+0x48/0x120 < program_thread+0x10/0x80\n")
	}
	if lines.Len() == 0 {
		t.Fatal("no report in the console")
	}
	return lines.String()
}

// checkRepeats: the one line of a repeated report is no report, and spoils none that it stands beside.
func checkRepeats(t *testing.T, reporter *report.Reporter, console, title string) {
	t.Helper()
	again := repeats(t, console)
	if reporter.ContainsCrash([]byte(again)) {
		t.Errorf("taken for a report: %s", again)
	}
	for _, text := range []string{again + console, console + again + again} {
		found := reporter.Parse([]byte(text))
		if found == nil {
			t.Fatal("no report found beside the line of a repeated one")
		}
		if found.Title != title {
			t.Errorf("title %q beside the line of a repeated report, expected %q", found.Title, title)
		}
		if found.Corrupted {
			t.Errorf("corrupted by the line of a repeated report: %s", found.CorruptedReason)
		}
	}
}

func TestGoldenReports(t *testing.T) {
	folder := os.Getenv("REDZONE_GOLDEN")
	if folder == "" {
		t.Fatal("REDZONE_GOLDEN does not name the folder of the golden reports")
	}
	reporter := newReporter(t)
	for name, title := range goldenTitles(t, folder) {
		t.Run(name, func(t *testing.T) {
			console, err := os.ReadFile(filepath.Join(folder, name+".log"))
			if err != nil {
				t.Fatal(err)
			}
			found := reporter.Parse(console)
			if found == nil {
				t.Fatal("no report found")
			}
			if found.Title != title {
				t.Errorf("title %q, expected %q", found.Title, title)
			}
			if found.Corrupted {
				t.Errorf("corrupted: %s", found.CorruptedReason)
			}
			checkRepeats(t, reporter, string(console), title)
		})
	}
}
