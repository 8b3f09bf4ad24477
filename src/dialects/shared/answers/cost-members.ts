import type { Bill } from '../../../ir/usage.ts';
import type { JsonObject } from '../../../kit/json/json.ts';
import { usdOf } from '../../../kit/money.ts';

/** Names of the costs of prompt and answer in `cost_details`. */
export interface CostNames {
  readonly input: string;
  readonly output: string;
}

/** Members of a usage object for the cost, in USD. `names`: absent where prompt and answer are not told apart. */
export function costMembers(bill: Bill, names?: CostNames): JsonObject {
  return {
    cost: usdOf(bill.totalNanos),
    is_byok: bill.isByok,
    cost_details: {
      upstream_inference_cost: bill.isByok ? usdOf(bill.inputNanos + bill.outputNanos) : null,
      ...(names !== undefined && {
        [names.input]: usdOf(bill.inputNanos),
        [names.output]: usdOf(bill.outputNanos),
      }),
    },
  };
}
