import type { Job, RunResult } from '../../../protocol/job.js'
import type { ProcessIdentity } from '../../processIdentity.js'

/** How a run ended. Only `result` says what became of the job; after any other it may be tried again. */
export type RunEnding =
  /** It left a whole, valid result. */
  | 'result'
  /** It exited and left none. */
  | 'no-result'
  /** It left something that is not a result. */
  | 'garbage'
  /** It did not end in time and was stopped. */
  | 'timeout'
  /** The program could not be started, or the enclave's host refused the job. */
  | 'not-started'

export interface RunEnd {
  readonly how: RunEnding
  /** Null when a signal ended it, or this server did not see it exit. */
  readonly exitCode: number | null
  /** With `result`; and with `timeout` the provisional `failed` that may hold a notice. */
  readonly result: RunResult | null
}

/** One run under way. */
export interface StartedRun {
  /** Never rejects; resolves 30 s after `stopAt` at the latest. */
  readonly end: Promise<RunEnd>
}

/**
 * Writes down that a run is about to begin, so that a server that comes after a crash of this one knows of it.
 * @param process null when it is not one of this machine
 */
export type NoteRun = (process: ProcessIdentity | null) => Promise<void>

/** A run of an earlier server, as its file has it. */
export interface EarlierRun {
  readonly runId: string
  readonly process: ProcessIdentity | null
  readonly resultFile: string
  /** Unix milliseconds, where it is known. */
  readonly startedAt?: number
  /** Unix seconds. */
  readonly stopAt: number
}

/** Milliseconds until `stopAt`: never more than at the run's start, also when the clock has been set back since. */
export function timeLeft({ startedAt, stopAt }: Pick<EarlierRun, 'startedAt' | 'stopAt'>): number {
  return stopAt * 1_000 - Math.max(startedAt ?? 0, Date.now())
}

/** Outcomes of an order that the chain shows. */
export type ShownOutcome = 'settled' | 'refunded'

/** Where the enclave runs: a process of this machine, or somewhere else behind HTTP. */
export interface EnclaveRunner {
  /**
   * Starts a run. It does not get its job, and so does nothing, before it is noted; a program that can't be started is not.
   * @throws what `note` throws; nothing is under way then
   */
  run(job: Job, note: NoteRun): Promise<StartedRun>
  /** Waits for the end of a run that this server did not start. Never rejects. */
  attach(run: EarlierRun): Promise<RunEnd>
  /**
   * The chain shows what a run has brought about. Where the run's end can't be seen and no result arrives, that is its
   * end.
   */
  seenOnChain(runId: string, outcome: ShownOutcome): void
}

/** After `stopAt` the enclave calls neither broker nor relay; this much later it can't have a call under way either. */
export const STOPPED_AFTER_MS = 30_000
