# SPDX-License-Identifier: MIT
"""The program that makes a campaign's inputs. libfuzzer.py and afl.py have one each."""

# What --engine takes.
NAMES = ("libfuzzer", "afl++")


class Engine:
    """Makes inputs for the target.Target @target as the campaign.Options @options say.

    corpus: the folder of inputs that are kept, which all engines share. new: the folder for findings. A
    job is a campaign.Job: `inputs`, `edges` and `corpus` are its numbers.
    """

    title = ""

    def __init__(self, target, options, corpus, new):
        self.target, self.options = target, options
        self.corpus, self.new = corpus, new

    def prepare(self):
        """Make what the first job needs."""

    def command(self, job):
        """Return the words that start @job, or start it again."""
        raise NotImplementedError

    def environment(self):
        """Return the variables that the jobs have in addition."""
        return {}

    def output(self, number):
        """Return the file that takes the standard output of job @number, or None."""

    def line(self, job, text):
        """Take a line of the job's standard error. Return whether it was one of the engine's own."""
        raise NotImplementedError

    def look(self, job):
        """Bring the job's numbers up to date, from what is on the disk. Called now and then."""

    def ended(self, job):
        """Do the same when the job has ended."""

    def keep(self, last=False):
        """Put inputs that the engine keeps into the corpus, if it does not do that itself.

        Called now and then. last: the jobs have ended.
        """

    def why(self, number):
        """Return lines that say why job @number has failed, if they are not on its standard error."""
        return []

    def share(self, number):
        """Return how many of --runs are the inputs of job @number."""
        runs, jobs = self.options.runs, self.options.jobs
        return runs // jobs + (number < runs % jobs)
