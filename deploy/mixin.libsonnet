// The rules and dashboards of this folder, for tools that read monitoring mixins: kube-prometheus, Grizzly, mixtool.
// Needs go-jsonnet 0.18 or newer. The jsonnet in C++ (tried: 0.18) cannot parse YAML with texts of several lines.
local groups = std.parseYaml(importstr 'prometheus/rules.yaml').groups
               + std.parseYaml(importstr 'prometheus/rules-extra.yaml').groups;
local alerts(group) = std.length([rule for rule in group.rules if std.objectHas(rule, 'alert')]) > 0;
{
  grafanaDashboardFolder:: 'beaconcha.in',
  grafanaDashboards+:: {
    'beaconchain-chain.json': import 'grafana/dashboards/beaconchain-chain.json',
    'beaconchain-exporter.json': import 'grafana/dashboards/beaconchain-exporter.json',
    'beaconchain-fleet.json': import 'grafana/dashboards/beaconchain-fleet.json',
    'beaconchain-machine.json': import 'grafana/dashboards/beaconchain-machine.json',
    'beaconchain-returns.json': import 'grafana/dashboards/beaconchain-returns.json',
    'beaconchain-validators.json': import 'grafana/dashboards/beaconchain-validators.json',
  },
  prometheusAlerts+:: { groups+: [group for group in groups if alerts(group)] },
  prometheusRules+:: { groups+: [group for group in groups if !alerts(group)] },
}
