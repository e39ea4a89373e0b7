from catchment.cli.main import run

run()
