import { daily } from '../../facts/fields.ts';

export const schema = daily.describe("The network's daily returns, polled once a day.");
