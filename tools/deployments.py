"""Tools for deployments: reading and drafting campaigns. Those that start and stop them are in `dialling.py`."""

from callwright.contract import deployments as contract
from callwright.contract.deployments import Contact

from .campaign_words import entry, preview, whole
from .text import line, moment
from .tool import CHANGES, READS, Gone, Hints, Tool, one_a_line
from .use import Use
from .waiting import GetDeploymentWaiting, awaited

_MOMENTS = {
    "start_at": "Call nobody before this moment.",
    "end_at": "Begin no new call from this moment on.",
}


def _contact(contact: Contact, use: Use) -> str:
    return line(
        contact.id,
        use.number(contact.phone_number),
        contact.status,
        f"{contact.attempts} attempts" if contact.attempts != 1 else "1 attempt",
        contact.last_outcome,
        contact.last_disposition,
        f"last call {contact.last_call_id}" if contact.last_call_id else None,
        f"next {moment(contact.next_attempt_at)}" if contact.next_attempt_at else None,
    )


def _gone(gone: Gone, _: Use) -> str:
    return f"Deleted draft {gone.id}."


TOOLS: tuple[Tool, ...] = (
    Tool(
        operation=contract.list_deployments,
        toolset="campaigns",
        title="List deployments",
        description=(
            "Campaigns (deployments), newest first, with how far each is. Use it to find a deployment_id or to see"
            " what is running; filter by status, agent, audience or name. For one with all its settings use "
            "get_deployment, for its people list_contacts, for its calls list_calls. Free, changes nothing."
        ),
        hints=READS,
        reply=one_a_line(entry, empty="No deployment fits. create_deployment drafts one."),
    ),
    Tool(
        operation=contract.create_deployment,
        toolset="campaigns",
        title="Create a deployment",
        description=(
            "Drafts a campaign: which agent calls which audience, from which numbers, when, how fast, with which "
            "retries and budget. A draft costs nothing and calls nobody. WITH auto_start=true IT DIALS AND SPENDS "
            "MONEY at once: leave that out, then use preview_deployment and, after the person has agreed, "
            "start_deployment. Needs an agent (create_agent), a filled audience (import_audience) and a number "
            "(rent_phone_number). Set budget_cap and calling_hours as the person wishes. Gives the draft's id and "
            "settings."
        ),
        hints=Hints(read_only=False, destructive=False, idempotent=False, open_world=True),
        reply=whole,
        words=_MOMENTS,
    ),
    Tool(
        operation=contract.get_deployment,
        toolset="campaigns",
        title="Get a deployment",
        description=(
            "One campaign: state, how many contacts are done, outcomes, dispositions, spend and settings. Use it "
            "to follow a running campaign; with wait_seconds (up to 45) it waits until the campaign is finished or"
            " paused, reporting progress, which is better than asking again and again. For single people use "
            "list_contacts, for calls list_calls. Free, changes nothing."
        ),
        hints=READS,
        reply=whole,
        takes=GetDeploymentWaiting,
        act=awaited,
    ),
    Tool(
        operation=contract.update_deployment,
        toolset="campaigns",
        title="Change a deployment",
        description=(
            "Side effect: on a running campaign a faster pace, a later end or a higher budget_cap makes it DIAL "
            "MORE AND SPEND MORE. Changes the fields that are given; old values are overwritten. A draft may "
            "change in everything, a paused one in all but agent and audience, an active one in name, pace, "
            "end_at, budget_cap and notes. To start or stop use start_deployment, pause_deployment, "
            "resume_deployment or cancel_deployment. Gives the deployment after the change."
        ),
        hints=Hints(read_only=False, destructive=True, idempotent=True, open_world=True),
        reply=whole,
        words=_MOMENTS,
    ),
    Tool(
        operation=contract.delete_deployment,
        toolset="campaigns",
        title="Delete a draft",
        description=(
            "Deletes a campaign that is still a draft, for good. Costs nothing. One that has started cannot be "
            "deleted, because its calls are records: use cancel_deployment to stop it. Gives the id that is gone."
        ),
        hints=CHANGES,
        reply=_gone,
    ),
    Tool(
        operation=contract.preview_deployment,
        toolset="campaigns",
        title="Preview a deployment",
        description=(
            "Dry run: dials nobody, costs nothing, changes nothing. Shows who would be called and who not and why,"
            " columns that are missing, the greeting as the first person would hear it, the cost range against the"
            " wallet, and what start_deployment would refuse. Use it before every start_deployment and show the "
            "person the number of people and the cost."
        ),
        hints=READS,
        reply=preview,
    ),
    Tool(
        operation=contract.list_contacts,
        toolset="campaigns",
        title="List contacts of a deployment",
        description=(
            "The people of one campaign and how far it is with each: state, attempts, last outcome and "
            "disposition, next attempt. Use it to see who was not reached or is still waiting; filter by status, "
            "last_outcome or last_disposition. For what was said use list_calls, then get_transcript. Free, "
            "changes nothing. Numbers are masked in the text."
        ),
        hints=READS,
        reply=one_a_line(_contact, empty="No contact fits. A draft has none before its start."),
    ),
)
