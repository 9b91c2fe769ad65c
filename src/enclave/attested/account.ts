import { BrokerError, createBroker } from '../../broker/index.js'
import type { BrokerKeys } from '../../protocol/provisioning.js'
import { brokerOptionsOf } from '../commonConfig.js'
import type { AttestedConfig } from './settings.js'

/** Why the enclave refuses keys of the broker. It asks the broker before it seals them, so its next start has the stated account too. */
export async function accountRefusal(
  config: AttestedConfig,
  { keyId, secretKey }: Pick<BrokerKeys, 'keyId' | 'secretKey'>,
): Promise<'wrong-account' | 'broker-unavailable' | undefined> {
  const keys = { ALPACA_KEY_ID: keyId, ALPACA_SECRET_KEY: secretKey }
  try {
    const { id } = await createBroker(brokerOptionsOf({ ...config, ...keys })).getAccount()
    return id.toLowerCase() === config.ALPACA_ACCOUNT_ID ? undefined : 'wrong-account'
  } catch (error) {
    if (!(error instanceof BrokerError)) throw error
    return error.kind === 'unauthorized' ? 'wrong-account' : 'broker-unavailable'
  }
}
