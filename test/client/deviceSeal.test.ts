import { expect, it } from 'vitest'
import { useChain } from '../support/chain.js'
import { clearForTrading } from './clientSetting.js'
import { historyClient } from './history/historySetting.js'
import { OTHER_SECRET, SECRET } from './history/written.js'

const chain = useChain(clearForTrading)
const NAMES = [['0x90F79bf6EB2c4f870365E785982E1f101E93b906', 'Ada Lovelace']]

it('a text that is sealed for the device shows neither text nor length, and opens with the same wallet elsewhere, for its purpose, and unaltered', async () => {
  const bytes = await (await historyClient(chain())).sealForDevice('names', NAMES)
  expect(Buffer.from(bytes).includes('Ada')).toBe(false)
  const longer = await (await historyClient(chain())).sealForDevice('names', [...NAMES, ...NAMES])
  expect(longer.length).toBe(bytes.length)
  const client = await historyClient(chain())
  expect(await client.openFromDevice('names', bytes)).toEqual(NAMES)
  expect(await client.openFromDevice('notes', bytes)).toBeUndefined()
  const bob = await historyClient(chain(), [], { role: 'bob' })
  expect(await bob.openFromDevice('names', bytes)).toBeUndefined()
  expect(await client.openFromDevice('names', bytes.with(40, (bytes[40] ?? 0) ^ 1))).toBeUndefined()
  expect(await client.openFromDevice('names', new Uint8Array())).toBeUndefined()
})

it('a text for the device is sealed with the newest key, and older keys still open theirs', async () => {
  const derived = await (await historyClient(chain())).sealForDevice('names', NAMES)
  const drawn = await historyClient(chain(), [SECRET])
  expect(await drawn.openFromDevice('names', derived)).toEqual(NAMES)
  const bytes = await drawn.sealForDevice('names', NAMES)
  expect(await (await historyClient(chain(), [OTHER_SECRET, SECRET])).openFromDevice('names', bytes)).toEqual(
    NAMES,
  )
  expect(await (await historyClient(chain())).openFromDevice('names', bytes)).toBeUndefined()
})
