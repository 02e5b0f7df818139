// Explanations of bubble and idle time, whose denominators differ by view. The values are shown elsewhere; a value of NaN omits them here.
import type { Why } from '../../api/answers'
import * as texts from '../../words/parts'

const word = (id: string, title: string, text: string, formula: string, source: string): Why => ({
  id,
  title,
  value: Number.NaN,
  unit: '',
  text,
  formula,
  inputs: [],
  source,
})

export const BUBBLE_WORDS: readonly Why[] = [
  word('bubble.critical', texts.bubbleOfTheSlowestStage, texts.ofTheWholeStep, texts.idleTimeOfTheCritical, texts.whatTheStepLosesBy),
  word('bubble.mean', texts.bubblesMeanOverStages, texts.ofThePipelinesDuration, texts.meanOverStagesOfFill, texts.allStagesHaveTheSame),
  word(
    'bubble.idle',
    texts.idleMeanOverStages,
    texts.ofThePipelinesDuration,
    texts.meanOverStagesOfPipeline,
    texts.messagesInTransitAreIdle,
  ),
  word('bubble.stage', texts.bubblesOfOneStage, texts.ofThePipelinesDuration, texts.fillSteadyDrainPipelineOr, texts.fromTheFirstPassOf),
]
