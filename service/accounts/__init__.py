"""Organizations, users and keys, for the commands and the embedded service. No API operation makes them.

Every change leaves an audit entry in the organizations that it concerns.
"""

from callwright.service.accounts.api_keys import (
    DEFAULT_PROFILE,
    MAX_ACTIVE_KEYS,
    NewKey,
    create_key,
    create_personal_key,
    keys_of,
    revoke_key,
)
from callwright.service.accounts.embedded import DEFAULT_ORGANIZATION, default_organization, embedded_key
from callwright.service.accounts.errors import AccountError
from callwright.service.accounts.freezing import WalletStatus, set_wallet_status
from callwright.service.accounts.memberships import add_member, delete_user, first_owner, join, leave, users_of
from callwright.service.accounts.organizations import (
    PlanChange,
    change_plan,
    create_organization,
    find_organization,
    fund,
    organizations_of,
    warn_of_low_balance,
)
from callwright.service.accounts.predial_secrets import renew_predial_secret
from callwright.service.accounts.refunds import Refund, refund_call
from callwright.service.accounts.users import OPERATOR, create_user, find_user, operator_user, user_with

__all__ = [
    "DEFAULT_ORGANIZATION",
    "DEFAULT_PROFILE",
    "MAX_ACTIVE_KEYS",
    "OPERATOR",
    "AccountError",
    "NewKey",
    "PlanChange",
    "Refund",
    "WalletStatus",
    "add_member",
    "change_plan",
    "create_key",
    "create_organization",
    "create_personal_key",
    "create_user",
    "default_organization",
    "delete_user",
    "embedded_key",
    "find_organization",
    "find_user",
    "first_owner",
    "fund",
    "join",
    "keys_of",
    "leave",
    "operator_user",
    "organizations_of",
    "refund_call",
    "renew_predial_secret",
    "revoke_key",
    "set_wallet_status",
    "user_with",
    "users_of",
    "warn_of_low_balance",
]
