import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ALL_FAMILIES } from '../test/support/metric-contract.ts';

/** Writes down the families that a release promises; test/metric-stability.test.ts compares with them. */

const FILE = join(import.meta.dirname, '../test/golden/released-families.json');

writeFileSync(FILE, `[\n${ALL_FAMILIES.map((family) => `  ${JSON.stringify(family)}`).join(',\n')}\n]\n`);
