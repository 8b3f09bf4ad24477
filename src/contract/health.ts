import Type from 'typebox';
import { oneOf } from '../kit/schema.ts';

/** Reply of `/healthz` and `/readyz`. */
export const healthSchema = Type.Object({ status: oneOf(['ok', 'starting', 'draining']) });
