import type { BrokerControl, SeenRequest } from '../../src/simulator/index.js'

/** The requests of the enclave's account that the stand-in has seen, however many: its own log keeps the last ones. */
export interface BrokerTally {
  readonly requests: readonly SeenRequest[]
  stop(): void
}

/** Often enough that the stand-in has forgotten none. */
const LOOK_MS = 500

export function startBrokerTally(control: BrokerControl): BrokerTally {
  const requests: SeenRequest[] = []
  let last = control.requests().at(-1)
  function look(): void {
    const all = control.requests()
    const from = last === undefined ? 0 : all.lastIndexOf(last) + 1
    if (last !== undefined && from === 0) throw new Error('the stand-in has forgotten requests')
    requests.push(...all.slice(from).filter(({ account }) => account === 'enclave'))
    last = all.at(-1)
  }
  const timer = setInterval(look, LOOK_MS)
  return {
    get requests() {
      look()
      return requests
    },
    stop: () => clearInterval(timer),
  }
}
