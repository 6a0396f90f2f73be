/** JavaScript of every version, because an old Node runs it. package.json runs it first: src/main.ts needs a newer one. */
if (Number.parseInt(process.versions.node, 10) < 24) {
  process.stderr.write(`beaconchain-exporter needs Node 24 or newer; this is ${process.versions.node}\n`);
  process.exit(1);
}
