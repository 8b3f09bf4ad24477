import { classifyingContract } from './classifying.ts';

classifyingContract('DuckDB', async () => ({}));
