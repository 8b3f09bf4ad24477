/** The objects of the interface: the types that the gateway itself uses. */
export type { Explanation } from '../../../src/contract/catalog/explanation.ts';
export type { ModelObject } from '../../../src/contract/catalog/model.ts';
export type { CurrentKey } from '../../../src/contract/keys/current-key.ts';
export type { CreateKey, KeyObject, UpdateKey } from '../../../src/contract/keys/key.ts';
export type { SessionObject } from '../../../src/contract/sessions/session.ts';
export type { RoutingMetadata } from '../../../src/ir/metadata.ts';
