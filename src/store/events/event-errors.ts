import { GatewayError } from '../../ir/errors.ts';
import { DatabaseUnavailable } from '../sql/database-unavailable.ts';

/** The events do not answer: a retry may help. */
export class EventsUnavailable extends DatabaseUnavailable {
  constructor(cause: unknown) {
    super(cause, 'analytics do not answer');
  }
}

/** A query exceeded its limit of memory, or of time. */
export class QueryTooLarge extends GatewayError {
  constructor() {
    super(
      'invalid-request',
      'time_range: the question needs more memory or time than there is for one; ask for a shorter range, fewer ' +
        'metrics or fewer dimensions',
    );
  }
}
