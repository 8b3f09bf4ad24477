import { it } from 'vitest';
import { drill } from '../backup-drill.ts';

it('restores every backup of a gateway under load, and what was left when it was killed', async () => {
  for (let round = 0; round < 3; round++) await drill(15_000, 4);
});
