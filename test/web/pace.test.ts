import { describe, expect, it } from 'vitest'
import type { WalletView } from '../../src/client/index.js'
import { walletPace } from '../../web/state/account.js'

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
})
