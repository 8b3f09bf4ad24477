import { it } from 'vitest';
import { drill } from '../faults/backup-drill.ts';

it('restores what a gateway under load had acknowledged before a backup, and all after it was killed', async () => {
  await drill(1500, 1);
}, 120_000);
