import type {
  ClassifierObject,
  CreateClassifier,
  UpdateClassifier,
} from '../../../contract/classifiers/classifier.ts';
import type { ClassifierRunObject, StartRun } from '../../../contract/classifiers/run.ts';
import type { ClassifierTrialObject, TestClassifier } from '../../../contract/classifiers/trial.ts';
import type { RouteExample } from '../../route.ts';
import { GENERATION_ID, WORKSPACE_ID } from './ids.ts';

const DIMENSIONS = [
  {
    name: 'topic',
    description: 'What the user asks about.',
    values: [
      { value: 'billing', description: 'Invoices, payments and refunds.' },
      { value: 'shipping', description: 'Parcels and their delivery.' },
      { value: 'other', description: null },
    ],
  },
];

const CLASSIFIER = {
  id: '0d6f2a34-55c1-4b57-8f4e-3a1c6b7d9e20',
  workspace_id: WORKSPACE_ID,
  name: 'Topics',
  description: 'Requests of customers to the support of a shop.',
  is_active: true,
  model: 'simulator/standard',
  dimensions: DIMENSIONS,
  sampling_rate: 1,
  monthly_budget_usd: 20,
  used_usd: 0,
  state: null,
  last_problem: null,
  created_at: '2026-11-17T05:17:05.423Z',
  updated_at: '2026-11-17T05:17:05.423Z',
  managed_by: null,
} satisfies ClassifierObject;

const BY_ID = { id: CLASSIFIER.id };

const RUN = {
  id: '7a1d4d8e-2b0f-4f6c-9b37-5c1e8a6f0d42',
  classifier_id: CLASSIFIER.id,
  state: 'running',
  time_range: { start: '2026-10-17T00:00:00.000Z', end: '2026-11-17T00:00:00.000Z' },
  budget_usd: 5,
  spent_usd: 0,
  seen: 0,
  tagged: 0,
  without_content: 0,
  failed: 0,
  problem: null,
  created_at: '2026-11-17T05:20:00.000Z',
  updated_at: '2026-11-17T05:20:00.000Z',
} satisfies ClassifierRunObject;

const RUN_BY_ID = { ...BY_ID, run_id: RUN.id };

/** Classifiers. */
export const CLASSIFIER_EXAMPLES = {
  createClassifier: {
    body: {
      name: 'Topics',
      description: 'Requests of customers to the support of a shop.',
      model: 'simulator/standard',
      dimensions: DIMENSIONS,
      monthly_budget_usd: 20,
    } satisfies CreateClassifier,
    answer: { data: CLASSIFIER },
  },
  listClassifiers: { answer: { data: [CLASSIFIER], total_count: 1 } },
  getClassifier: { params: BY_ID, answer: { data: CLASSIFIER } },
  updateClassifier: {
    params: BY_ID,
    body: { is_active: false } satisfies UpdateClassifier,
    answer: { data: { ...CLASSIFIER, is_active: false, updated_at: '2026-11-17T05:18:41.007Z' } },
  },
  deleteClassifier: { params: BY_ID, answer: { deleted: true } },
  testClassifier: {
    params: BY_ID,
    body: { text: 'Where is my parcel?' } satisfies TestClassifier,
    answer: {
      data: {
        tags: { topic: 'shipping' },
        problem: null,
        generation_id: GENERATION_ID,
        cost: 0.00002,
        transcript: 'USER: Where is my parcel?',
      } satisfies ClassifierTrialObject,
    },
  },
  startClassifierRun: {
    params: BY_ID,
    body: {
      time_range: { start: '2026-10-17T00:00:00Z', end: '2026-11-17T00:00:00Z' },
      budget_usd: 5,
    } satisfies StartRun,
    answer: { data: RUN },
  },
  listClassifierRuns: { params: BY_ID, answer: { data: [RUN], total_count: 1 } },
  getClassifierRun: { params: RUN_BY_ID, answer: { data: RUN } },
  stopClassifierRun: {
    params: RUN_BY_ID,
    answer: {
      data: { ...RUN, state: 'stopped', problem: 'it was stopped', updated_at: '2026-11-17T05:21:00.000Z' },
    },
  },
} as const satisfies Record<string, RouteExample>;
