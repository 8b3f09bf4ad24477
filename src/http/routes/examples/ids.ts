/** Ids that examples of several areas share. */
export const WORKSPACE_ID = 'c82312d8-78d1-4b52-a5ed-433b7b00a2aa';
export const GENERATION_ID = 'gen-1794892624-6l9r2DXYGDJmKWOZUQd3';
