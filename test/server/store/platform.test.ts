import { expect, test } from 'vitest'
import { UnusableDatabaseError } from '../../../src/server/store/engine.js'
import { checkPlatform } from '../../../src/server/store/postgres/platform.js'
import { openQuickly } from '../../support/quickStores.js'
import { putRow } from '../../support/stores.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'

const PLATFORM = { chainId: '31337', contracts: { escrow: '0xAb', pool: '0xcd' } }

test('servers of one deployment share a database, however they write the addresses', async () => {
  const engine = await openQuickly(await temporaryDirectory())
  await checkPlatform(engine, PLATFORM)
  await checkPlatform(engine, { chainId: '31337', contracts: { pool: '0xCD', escrow: '0xaB' } })
  await engine.stop()
})

test.each([
  [{ ...PLATFORM, chainId: '1' }, "its chain is 31337, and this server's is 1"],
  [
    { ...PLATFORM, contracts: { escrow: '0xab', pool: '0xef' } },
    "its pool is 0xcd, and this server's is 0xef",
  ],
  [{ ...PLATFORM, contracts: { escrow: '0xab' } }, "its pool is 0xcd, and this server's is none"],
  [
    { ...PLATFORM, contracts: { ...PLATFORM.contracts, other: '0x1' } },
    "its other is none, and this server's is 0x1",
  ],
])('a server of another deployment is refused: %#', async (other, difference) => {
  const engine = await openQuickly(await temporaryDirectory())
  await checkPlatform(engine, PLATFORM)
  const refused = checkPlatform(engine, other)
  await expect(refused).rejects.toThrow(UnusableDatabaseError)
  await expect(refused).rejects.toThrow(difference)
  await checkPlatform(engine, PLATFORM)
  await engine.stop()
})

test('a record that cannot be read is no other deployment', async () => {
  const engine = await openQuickly(await temporaryDirectory())
  await putRow(engine, 'state', { id: 'platform', version: 1, isOpen: false, uniqueKey: null, doc: '{}' })
  await expect(checkPlatform(engine, PLATFORM)).rejects.toMatchObject({
    name: 'StorageError',
    code: 'UNREADABLE_RECORD',
  })
  await engine.stop()
})
