import { daily } from '../../facts/fields.ts';

export const schema = daily.describe('The current sync committee period, polled once per period (about 27 hours).');
