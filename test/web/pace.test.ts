import { describe, expect, it } from 'vitest'
import type { WalletView } from '../../src/client/index.js'
import { clockPace, paceAfter, walletPace } from '../../web/hooks/pace.js'

const view: WalletView = {
  ...{ address: '0x00000000000000000000000000000000000000aa', screen: 'trade', role: 'employee' },
  ...{ orgId: null, invitation: null, leavingAt: null, waitingFor: [] },
}
const failure = new Error('away')

describe('the pause before the page asks again', () => {
  it('for what a wallet should see is short until it trades, and after a failure', () => {
    const trading = walletPace(view, null)
    for (const waits of [walletPace({ ...view, screen: 'wait' }, null), walletPace(null, null)]) {
      expect(waits).toBeLessThan(trading)
    }
    expect(walletPace(null, failure)).toBeLessThan(trading)
  })

  it('for the market’s clock is short after a failure alone', () => {
    expect(clockPace(null, failure)).toBeLessThan(clockPace(null, null))
  })

  it('may be the same always', () => {
    expect(paceAfter(70, null, failure)).toBe(70)
    expect(paceAfter(walletPace, view, null)).toBe(walletPace(view, null))
  })
})
