import Type from 'typebox';
import { closed, nullish, oneOf } from '../../kit/json/schema.ts';

const MAX_KEPT_SECONDS = 2_592_000;

export const SANDBOX_PARAMETERS = closed({
  engine: nullish(Type.String()),
  environment: nullish(
    closed({
      type: oneOf(['container_auto', 'container_reference']),
      container_id: nullish(Type.String({ pattern: '^[\\w-]{1,20}$' })),
    }),
  ),
  sleep_after_seconds: nullish(Type.Integer({ minimum: 1, maximum: MAX_KEPT_SECONDS })),
});
