import json, statistics, sys

for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as file:
        record = json.load(file)
    complete = [process for process in record["processes"] if process["status"] == "complete"]
    trials = [trial for process in complete for trial in process["trials"]]
    calls = sum(trial["measurements"] for trial in trials)
    seconds = sum(trial["seconds"] for trial in trials)
    counts = [trial.get("cycles") or trial.get("ticks") for trial in trials]
    print(record["label"], record["operation"], record.get("input_bytes") or "", f"calls={calls}")
    if trials and all(counts):
        print(f"  mean={sum(counts) / calls:.6g} cycles or ticks")
    if trials:
        median = statistics.median(trial["seconds"] / trial["measurements"] for trial in trials)
        print(f"  mean={seconds / calls:.6g} s  median trial={median:.6g} s  {calls / seconds:.6g} ops/s")
