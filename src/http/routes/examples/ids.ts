/** Ids that examples of several areas share. */
export const WORKSPACE_ID = 'c82312d8-78d1-4b52-a5ed-433b7b00a2aa';
export const GENERATION_ID = 'gen-1794892624-6l9r2DXYGDJmKWOZUQd3';
export const KEY_HASH = 'aa74651d3a4ff99d6d5548bdf76a0cae1f1a6ecd1c9c1524c08292340eecdda3';

/** The trace of the generation. */
export const TRACE_ID = '6afbe35065def57c89e0d613393ffc1c';
