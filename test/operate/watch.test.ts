// `operate watch` on a real chain: what it prints, of which blocks, and how it ends.
import { expect, it } from 'vitest'
import { nameToBytes32 } from '../../src/protocol/identifiers.js'
import { useChain } from '../support/chain.js'
import { eventually } from '../support/eventually.js'
import { handled } from '../support/handled.js'
import { usd } from '../support/institution.js'
import { operate } from '../support/operate.js'
import { directoryOf } from './operateUnderTest.js'

const chain = useChain()
const ORG = nameToBytes32('Example Capital')

async function watch(args: readonly string[]) {
  const ending = new AbortController()
  let text = ''
  const directory = await directoryOf(chain())
  const result = handled(
    operate(['watch', '--directory', directory, ...args], {
      env: { RPC_URL: chain().anvil.rpcUrl },
      ended: ending.signal,
      onText: (more) => {
        text += more
      },
    }),
  )
  const lines = () => text.split('\n').slice(0, -1)
  return { lines, end: () => ending.abort(), result }
}

it('every event is one line in the words of the narration, with who and what it is of, from a block on', async () => {
  const { send, account, provider } = chain()
  const first = (await provider.getBlockNumber()) + 1
  await send('dave', 'registry', 'registerInstitution', ORG)
  await send('owner', 'registry', 'setAdmitted', ORG, account('dave'), true)
  const { lines, end, result } = await watch(['--from', `${first}`])
  await eventually('the events before', () => lines().length === 2)
  await send('alice', 'usdc', 'mint', account('alice'), usd(5))
  await send('alice', 'usdc', 'approve', chain().addresses.platformPool, usd(5))
  await send('alice', 'pool', 'fund', usd(5))
  await send('guardian', 'authority', 'pause')
  await eventually('the events since', () => lines().length === 4)
  end()
  expect(await result).toMatchObject({ exit: 0, err: '' })
  const [founded = '', admitted = '', funded = '', paused = ''] = lines()
  expect(founded).toContain('[registry] institution registered')
  expect(admitted).toContain('[registry] admission updated')
  expect(admitted).toContain(
    `orgId Example Capital  admin ${account('dave')}  admitted true  block ${first + 1}  tx 0x`,
  )
  expect(funded).toMatch(/\[pool\] pool funded +5\.00 USDC {2,}from 0x/)
  expect(paused).toMatch(/\[authority\] platform paused +until in \d/)
})
