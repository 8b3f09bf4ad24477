import Type from 'typebox';
import { oneOf } from '../../kit/json/schema.ts';

/** Reply of `/healthz` and `/readyz`. */
export const healthSchema = Type.Object({ status: oneOf(['ok', 'starting', 'draining']) });
