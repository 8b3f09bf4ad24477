/** The objects of the interface: the types that the gateway itself uses. */
export type { CurrentKey } from '../../../src/contract/keys/current-key.ts';
export type { CreateKey, KeyObject, UpdateKey } from '../../../src/contract/keys/key.ts';
export type { SessionObject } from '../../../src/contract/sessions/session.ts';
