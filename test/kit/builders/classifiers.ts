import type { Classification, Classifier } from '../../../src/ports/following/classifiers.ts';

/** A classifier of what conversations are about. */
export function classifierOf(more: Partial<Classifier> = {}): Classifier {
  return {
    id: '00000000-0000-4000-8000-00000000000c',
    accountId: 'account',
    workspaceId: 'workspace',
    name: 'Topics',
    description: null,
    isActive: true,
    dimensions: [
      {
        name: 'topic',
        description: 'What the conversation is about',
        values: [
          { value: 'billing', description: 'Invoices and refunds' },
          { value: 'returns', description: null },
        ],
      },
      {
        name: 'mood',
        description: null,
        values: [
          { value: 'calm', description: null },
          { value: 'angry', description: null },
        ],
      },
    ],
    model: 'acme/small',
    samplingRate: 1,
    monthlyBudgetNanos: null,
    createdAtMs: 1,
    updatedAtMs: null,
    fileMember: null,
    ...more,
  };
}

/** What such a classifier has said of a generation. */
export function classificationOf(more: Partial<Classification> = {}): Classification {
  return {
    classifierId: '00000000-0000-4000-8000-00000000000c',
    generationId: 'gen-1',
    createdAtMs: 1,
    tags: { topic: 'billing' },
    problem: null,
    classifiedAtMs: 2,
    ...more,
  };
}
