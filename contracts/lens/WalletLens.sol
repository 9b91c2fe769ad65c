// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {ConfidentialLedger} from "../ConfidentialLedger.sol";
import {EquityToken} from "../EquityToken.sol";
import {InstitutionRegistry} from "../InstitutionRegistry.sol";

/**
 * @title What decides which screen a wallet sees, in one `eth_call` at one block.
 *
 * @dev Never deployed: the call carries this code in the place of a transaction's `to`, and what the constructor returns
 * is the answer, as ERC-6492's validator does it. So the wallet's institution need not be known before it is asked of.
 */
contract WalletLens {
    constructor(InstitutionRegistry registry, EquityToken token, ConfidentialLedger ledger, address wallet) {
        bytes32 orgId = registry.orgOf(wallet);
        bytes memory answer = abi.encode(
            orgId,
            registry.invitationOf(wallet),
            token.isKyc(wallet),
            registry.adminOf(orgId),
            ledger.policyVersion(orgId)
        );
        assembly ("memory-safe") {
            return(add(answer, 0x20), mload(answer))
        }
    }
}
