"""The command line of `orgs`, `users`, `keys`, `audit` and `do-not-call`: their commands and flags."""

from typing import Annotated

import typer

from callwright.server.commands.invoking import AsJson, Data, Database, Quiet, run, settings_of

orgs = typer.Typer(help="Organizations, their plans and their wallets.", no_args_is_help=True)
users = typer.Typer(help="The people in organizations.", no_args_is_help=True)
keys = typer.Typer(help="API keys and personal keys.", no_args_is_help=True)

Org = Annotated[str, typer.Option(help="The organization's name or id.")]


@orgs.command("create")
def create_organization(
    name: str,
    plan: Annotated[str, typer.Option(help="starter, pro, growth or enterprise.")] = "starter",
    owner: Annotated[
        str | None, typer.Option(metavar="EMAIL", help="Who owns it; if absent, the operator of this installation.")
    ] = None,
    real_money: Annotated[
        bool, typer.Option("--real-money", help="A wallet of real money, which starts at zero.")
    ] = False,
    data: Data = None,
    database: Database = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Makes an organization with 100 dollars of play money."""
    from callwright.server.commands.accounts import organizations

    run(organizations.create, settings_of(data, database), name, plan, owner, real_money, quiet, as_json)


@orgs.command("list")
def list_organizations(data: Data = None, database: Database = None, as_json: AsJson = False) -> None:
    """Shows the organizations with their plans and negotiated limits."""
    from callwright.server.commands.accounts import organizations

    run(organizations.show_all, settings_of(data, database), as_json)


@orgs.command("change")
def change_organization(
    name: str,
    plan: Annotated[str | None, typer.Option(help="starter, pro, growth or enterprise.")] = None,
    requests_per_second: Annotated[
        str | None, typer.Option(metavar="N|plan", help="Requests per second of each key, in place of the plan's.")
    ] = None,
    requests_per_day: Annotated[
        str | None, typer.Option(metavar="N|plan", help="Requests per day (UTC) of each key, in place of the plan's.")
    ] = None,
    recording_days: Annotated[
        str | None, typer.Option(metavar="N|plan", help="Days for which recordings are kept, in place of the plan's.")
    ] = None,
    reserved_inbound: Annotated[
        str | None,
        typer.Option(metavar="N|plan", help="Calls at a time that campaigns leave free for callers; `plan` for none."),
    ] = None,
    low_balance: Annotated[
        str | None,
        typer.Option(metavar="AMOUNT|off", help="Dollars below which the event wallet.low_balance warns, or `off`."),
    ] = None,
    data: Data = None,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Changes an organization's plan, what it negotiated (`plan` takes that back), or its warning of a low balance."""
    from callwright.server.commands.accounts import organizations

    wanted = organizations.OrganizationChanges(
        plan, requests_per_second, requests_per_day, recording_days, reserved_inbound, low_balance
    )
    run(organizations.change, settings_of(data, database), name, wanted, as_json)


@orgs.command("fund")
def fund(
    name: str,
    amount: Annotated[str, typer.Option(help="Dollars of play money to add, for example 50.00.")],
    data: Data = None,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Adds play money to an organization's wallet."""
    from callwright.server.commands.accounts import organizations

    run(organizations.fund, settings_of(data, database), name, amount, as_json)


@orgs.command("refund")
def refund(
    name: str,
    call: Annotated[str, typer.Option(metavar="CALL_ID", help="The call to pay back, once.")],
    amount: Annotated[str | None, typer.Option(help="Dollars to pay back; if absent, what the call cost.")] = None,
    data: Data = None,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Pays back what a call cost into the organization's wallet."""
    from callwright.server.commands.accounts import organizations

    run(organizations.refund, settings_of(data, database), name, call, amount, as_json)


@orgs.command("freeze")
def freeze(name: str, data: Data = None, database: Database = None, as_json: AsJson = False) -> None:
    """Lets no new call be paid from the organization's wallet; calls under way finish and are charged."""
    from callwright.server.commands.accounts import organizations

    run(organizations.set_status, settings_of(data, database), name, "frozen", as_json)


@orgs.command("unfreeze")
def unfreeze(name: str, data: Data = None, database: Database = None, as_json: AsJson = False) -> None:
    """Lets calls be paid from the organization's wallet again."""
    from callwright.server.commands.accounts import organizations

    run(organizations.set_status, settings_of(data, database), name, "active", as_json)


@orgs.command("topup")
def top_up(
    name: str,
    amount: Annotated[str, typer.Option(help="Dollars to pay, from 1.00 to 999,999.00.")],
    data: Data = None,
    database: Database = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Makes a link on which a top-up of an organization's wallet is paid (CALLWRIGHT_PAYMENTS says through whom)."""
    from callwright.server.commands.accounts import topups

    run(topups.ask, settings_of(data, database), name, amount, quiet, as_json)


@orgs.command("topups")
def list_topups(name: str, data: Data = None, database: Database = None, as_json: AsJson = False) -> None:
    """Shows the newest 100 top-ups of an organization with their state."""
    from callwright.server.commands.accounts import topups

    run(topups.show_all, settings_of(data, database), name, as_json)


@orgs.command("predial-secret")
def renew_predial_secret(
    name: str, data: Data = None, database: Database = None, quiet: Quiet = False, as_json: AsJson = False
) -> None:
    """Makes a new secret that signs pre-dial checks. It is shown once; the former one signs for another day."""
    from callwright.server.commands.accounts import organizations

    run(organizations.renew_predial_secret, settings_of(data, database), name, quiet, as_json)


@users.command("add")
def add_user(
    email: str,
    org: Org,
    name: Annotated[
        str | None, typer.Option(help="The name of a new user; if absent, the address without its domain.")
    ] = None,
    role: Annotated[
        str | None,
        typer.Option(metavar="owner|member|viewer", help="The role, for who is in it already too. [default: member]"),
    ] = None,
    data: Data = None,
    database: Database = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Puts a user into an organization, or gives one another role there."""
    from callwright.server.commands.accounts import users

    run(users.add, settings_of(data, database), email, org, name, role, quiet, as_json)


@users.command("list")
def list_users(org: Org = "default", data: Data = None, database: Database = None, as_json: AsJson = False) -> None:
    """Shows who is in an organization."""
    from callwright.server.commands.accounts import users

    run(users.show_all, settings_of(data, database), org, as_json)


@users.command("remove")
def remove_user(email: str, org: Org, data: Data = None, database: Database = None) -> None:
    """Takes a user out of an organization. The keys they made go on, except for what needs a creator."""
    from callwright.server.commands.accounts import users

    run(users.remove, settings_of(data, database), email, org)


@users.command("delete")
def delete_user(
    email: str,
    force: Annotated[bool, typer.Option("--force", help="Also the last owner of an organization.")] = False,
    data: Data = None,
    database: Database = None,
) -> None:
    """Deletes a user for good, who leaves every organization."""
    from callwright.server.commands.accounts import users

    run(users.delete, settings_of(data, database), email, force)


@keys.command("create")
def create_key(
    org: Org = "default",
    label: Annotated[str, typer.Option(help="What the key is for.")] = "",
    user: Annotated[
        str | None,
        typer.Option(metavar="EMAIL", help="Whose key it is, a user in the organization; its first owner if absent."),
    ] = None,
    personal: Annotated[
        bool, typer.Option("--personal", help="A key for one person and the tool server alone: REST refuses it.")
    ] = False,
    profile: Annotated[
        str | None, typer.Option(help="The tools of a personal key: analyst, operator, builder (if absent) or all.")
    ] = None,
    spending_cap: Annotated[
        str | None, typer.Option(help="Dollars that a personal key may commit in all, for example 25.00.")
    ] = None,
    data: Data = None,
    database: Database = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Makes an API key, or a personal one. It is shown once."""
    from callwright.server.commands.accounts import keys

    wanted = keys.NewKey(org, label, personal, profile, spending_cap, user)
    run(keys.create, settings_of(data, database), wanted, quiet, as_json)


@keys.command("list")
def list_keys(org: Org = "default", data: Data = None, database: Database = None, as_json: AsJson = False) -> None:
    """Shows an organization's keys, revoked ones too, and who made them."""
    from callwright.server.commands.accounts import keys

    run(keys.show_all, settings_of(data, database), org, as_json)


@keys.command("revoke")
def revoke_key(key: str, data: Data = None, database: Database = None) -> None:
    """Revokes a key, by its id or its first 16 characters, from the next request on."""
    from callwright.server.commands.accounts import keys

    run(keys.revoke, settings_of(data, database), key)


def audit(
    org: Annotated[str, typer.Option(help="The organization's name or id.")] = "default",
    since: Annotated[
        str | None, typer.Option(help="From this day or moment on (UTC): 2026-11-01 or 2026-11-01T09:30:00Z.")
    ] = None,
    until: Annotated[str | None, typer.Option(help="Up to the end of this day, or before this moment (UTC).")] = None,
    key: Annotated[
        str | None, typer.Option(help="Only what this key did, by its id; platform is the service itself.")
    ] = None,
    action: Annotated[str | None, typer.Option(help="Only this action, for example update_agent.")] = None,
    subject: Annotated[str | None, typer.Option(help="Only what was done to this thing, by its id.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="How many entries at most, newest first.")] = 50,
    as_json: Annotated[bool, typer.Option("--json", help="A line of JSON for each entry, with all there is.")] = False,
    data: Data = None,
    database: Database = None,
) -> None:
    """What was changed in an organization: when, by which key, and each field before and after. Kept for 365 days."""
    from callwright.server.commands.accounts.audit import show

    run(show, settings_of(data, database), (org, since, until, key, action, subject), limit, as_json)


def add_do_not_call_commands(group: typer.Typer) -> None:
    """Adds to the commands of the do-not-call list what no tool does, or a shell does in another way."""
    from callwright.server.commands.tool_commands.do_not_call_file import export  # --help has to be quick
    from callwright.server.commands.tool_commands.do_not_call_import import import_list

    group.registered_commands = [one for one in group.registered_commands if one.name not in ("export", "import")]
    group.command("import", short_help="Puts the numbers of a file on the list.")(import_list)
    group.command("export", short_help="The list as CSV.")(export)
    group.command("clear", short_help="Forgets the opt-outs of the simulated network.")(clear)


def clear(
    simulated: Annotated[
        bool, typer.Option("--simulated", help="Required: only entries of the simulated network can be cleared.")
    ] = False,
    org: Annotated[str, typer.Option(help="The organization's name or id.")] = "default",
    data: Data = None,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Forgets who opted out on the simulated network, so that a campaign there can be run again exactly."""
    from callwright.server.commands.do_not_call import empty

    run(empty, settings_of(data, database), org, simulated, as_json)
