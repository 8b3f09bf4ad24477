import { lostAnswersLaw } from './lost-answers.ts';

lostAnswersLaw('messages');
