import type { DestinationTarget } from '../destination-target.ts';
import { objectWriter } from './object-writer.ts';
import { otlpWriter } from './otlp-writer.ts';
import { rowWriter } from './row-writer.ts';
import type { Write, WriterDependencies } from './writer.ts';

export function writerOf(target: DestinationTarget, dependencies: WriterDependencies): Write {
  switch (target.writer) {
    case 'otlp':
      return otlpWriter(target, dependencies);
    case 'objects':
      return objectWriter(target, dependencies);
    case 'rows':
      return rowWriter(target, dependencies);
  }
}
