"""What stands in the folder of an experiment that is over: table, numbers, report, a test that pins the finding."""
