/** JavaScript of every version, because an old Node runs it. package.json runs it first: src/main.ts needs a newer one. */
const { bun, deno, node } = process.versions;
// Bun and Deno name a version of Node too.
const other = [bun && `Bun ${bun}`, deno && `Deno ${deno}`].find(Boolean);
if (other || Number.parseInt(node, 10) < 24) {
  process.stderr.write(`beaconchain-exporter needs Node 24 or newer; this is ${other || node}\n`);
  process.exit(1);
}
