import { afterAll, beforeAll, expect, it } from 'vitest'
import { runCommandLine } from '../../src/cli/commandLine.js'
import { answerAsServer, clearForTrading, walletOf } from '../client/clientSetting.js'
import { type ApiStandIn, startApiStandIn } from '../support/apiStandIn.js'
import { useChain } from '../support/chain.js'
import { temporaryDirectory } from '../support/temporaryDirectory.js'

const chain = useChain(clearForTrading)
let api: ApiStandIn

beforeAll(async () => {
  api = await startApiStandIn()
})
afterAll(() => api.stop())

it.each([
  ['buy', 'ZZZZ is not listed.'],
  ['sell', 'ZZZZ was never listed.'],
])('refuses to %s what is not listed before anything is signed or sent', async (side, message) => {
  answerAsServer(api, chain())
  const sent = () => chain().provider.getTransactionCount(chain().account('alice'))
  const before = await sent()
  let stderr = ''
  const exit = await runCommandLine(['--json', 'order', side, 'ZZZZ', '10'], {
    env: {
      TRADING_SERVER_URL: api.url,
      TRADING_RPC_URL: chain().anvil.rpcUrl,
      TRADING_PRIVATE_KEY: walletOf(chain(), 'alice').privateKey,
      XDG_STATE_HOME: await temporaryDirectory(),
    },
    out: { write: () => true },
    err: { write: (text: string) => (stderr += text) },
    signal: new AbortController().signal,
  })
  const { error } = JSON.parse(stderr.trimEnd().split('\n').at(-1) ?? '')
  expect({ exit, ...error }).toEqual({
    ...{ exit: 2, code: 'unlisted-symbol', remedy: '"status" lists the symbols', requestId: null },
    message,
  })
  expect(await sent()).toBe(before)
  expect(api.requests.filter(({ method }) => method === 'POST')).toEqual([])
})
