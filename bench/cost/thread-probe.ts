import { getEnvironmentData } from 'node:worker_threads';
import { countStatements } from './count-statements.ts';
import { SHARED_COUNTS } from './probe-protocol.ts';

// Loaded with `--require` into each thread of a measured process.
const shared = getEnvironmentData(SHARED_COUNTS) as unknown as SharedArrayBuffer | undefined;
if (shared !== undefined) countStatements(new Int32Array(shared));
