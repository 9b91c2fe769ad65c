// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IERC1271} from "@openzeppelin/contracts/interfaces/IERC1271.sol";

/**
 * @title Whether a contract wallet takes a signature for its own (ERC-1271), in one `eth_call` at one block.
 *
 * @dev Never deployed, see {WalletLens}. The wallet is a stranger's code: it gets no more gas than {GAS}, nothing that it does lasts, and
 * of what it returns one word is read. An account without code took nothing.
 */
contract SignatureLens {
    /// @dev A Safe of ten owners takes 120,000, a passkey on a chain without a precompile for P-256 some 350,000.
    uint256 private constant GAS = 1_000_000;

    constructor(address wallet, bytes32 digest, bytes memory signature) {
        bytes memory question = abi.encodeCall(IERC1271.isValidSignature, (digest, signature));
        bytes32 expected = IERC1271.isValidSignature.selector;
        assembly ("memory-safe") {
            let isAnswered := staticcall(GAS, wallet, add(question, 0x20), mload(question), 0x00, 0x20)
            isAnswered := and(isAnswered, gt(returndatasize(), 0x1f))
            mstore(0x00, and(isAnswered, eq(mload(0x00), expected)))
            return(0x00, 0x20)
        }
    }
}
