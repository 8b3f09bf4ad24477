import { writeSync } from 'node:fs';
import { isThreadTooBig, Thread } from '../kit/thread/thread.ts';
import type { PdfProcessTask, PdfReport } from './pdf-task.ts';

// Reads a file from standard input, has a thread read its pages, and ends the process when that takes too long or too
// much memory. Buffers count towards no limit of a thread, so the memory of the whole process is watched.

const task = JSON.parse(process.argv[2] ?? '') as PdfProcessTask;
const { limits } = task;

function end(report: PdfReport): void {
  const bytes = Buffer.from(JSON.stringify(report));
  for (let from = 0; from < bytes.length; ) {
    try {
      from += writeSync(1, bytes, from);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') break;
    }
  }
  process.kill(process.pid, 'SIGKILL');
}

setTimeout(() => end({ problem: 'time' }), limits.totalMs);
setInterval(() => {
  const { user, system } = process.cpuUsage();
  if ((user + system) / 1000 > limits.processorMs) end({ problem: 'time' });
  if (process.memoryUsage.rss() > limits.memoryBytes) end({ problem: 'memory' });
}, 5);
const chunks: Buffer[] = [];
process.stdin.on('data', (chunk: Buffer) => chunks.push(chunk));
process.stdin.on('end', () => {
  const bytes = new Uint8Array(Buffer.concat(chunks));
  chunks.length = 0;
  const thread = new Thread<Uint8Array, PdfReport>(new URL('./pdf-thread-main.js', import.meta.url), {
    data: task,
    limits: { maxOldGenerationSizeMb: Math.ceil(limits.memoryBytes / 1048576 / 2) },
    isSilent: true,
  });
  thread
    .ask(bytes, { moved: [bytes.buffer] })
    .then(end, (error: unknown) => end({ problem: isThreadTooBig(error) ? 'memory' : 'broken' }));
});
