"""Reads an exposition on stdin with Prometheus' own Python parsers and writes what it understood as JSON."""
import json
import sys

from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics
from prometheus_client.parser import text_string_to_metric_families as text

parse = {"text": text, "openmetrics": openmetrics}[sys.argv[1]]
exposition = sys.stdin.buffer.read().decode("utf-8")
json.dump(
    [
        {
            "name": family.name,
            "type": family.type,
            "unit": family.unit,
            "help": family.documentation,
            # The shortest text that reads back as the same number, as JSON has no infinity.
            "samples": [
                {"name": sample.name, "labels": sample.labels, "value": repr(float(sample.value))}
                for sample in family.samples
            ],
        }
        for family in parse(exposition)
    ],
    sys.stdout,
)
