import type { WalletView } from '../../src/client/index.js'

/** The pause before the next question, in milliseconds: the same always, or by the last answer or failure. */
export type Pace<T> = number | ((value: T | null, error: unknown) => number)

const [SOON_MS, LATER_MS] = [3_000, 15_000]

/** What a wallet should see changes soon where it waits for something, and hardly once it trades. */
export function walletPace(view: WalletView | null, error: unknown): number {
  return error === null && view?.screen === 'trade' ? LATER_MS : SOON_MS
}

/** Market hours change twice a day; but whether the server answers them is what the page says at its top. */
export function clockPace(_clock: unknown, error: unknown): number {
  return error === null ? LATER_MS : SOON_MS
}

export function paceAfter<T>(pace: Pace<T>, value: T | null, error: unknown): number {
  return typeof pace === 'number' ? pace : pace(value, error)
}
