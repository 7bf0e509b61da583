"""Users who react to the system: the scenario's key `users`."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from walltime.scenario.part import Part
from walltime.scenario.values import Count, Duration, File, Model, Moment


class Users(Model):
    """How users submit their jobs: at the times of the log, or when what they waited for in the log has ended here."""

    text_is = "mode"
    spelt_out = ("mode",)

    mode: Literal["replay", "feedback", "alea"] = Field(
        default="feedback",
        description="`replay`: at the recorded times, however the system does. `feedback`: a user submits the next "
        "batch when what it waited for has ended and the think time has passed, in the user's working hours. `alea`: "
        "the rules of the simulator Alea, without think times, in recorded sessions.",
    )
    session_gap: Duration = Field(
        default=1200.0, description="A user who gives no sign for longer than this has ended a session."
    )
    campaign: Moment = Field(
        default=10.0, description="Jobs that come within this time of the one before are one act, as of a script."
    )
    overlap: Literal["last", "any"] = Field(
        default="last",
        description="A job belongs to a batch if it comes before the last job of the batch has ended (`last`), or "
        "before all of its jobs have (`any`).",
    )
    waits: Literal["recorded", "none"] = Field(
        default="recorded",
        description="How long jobs waited in the log: as it says, or not at all (`none`), for a log that does not say.",
    )
    think: Literal["recorded", "drawn"] = Field(
        default="recorded",
        description="Think times inside sessions: each as recorded, or drawn from those of the same user.",
    )
    hours: Literal["own", "any"] = Field(
        default="own",
        description="A batch is submitted in the working hours of its user, inferred from the log, else in the next of "
        "them (`own`); or at any hour.",
    )
    population: Count | None = Field(
        default=None,
        description="So many users, drawn from those of the log with all that they do, each begun some whole weeks "
        "earlier or later; by default the log's own users.",
    )
    files: File | None = Field(
        default=None,
        description="Of the mode alea: the data set whose files NAME_USER_sessions and NAME_USER_batches tell what "
        "waits for what; by default it is inferred.",
    )

    reactions: tuple[Part, ...] = Field(
        default=(), description="What users do besides: parts that are asked about each submission, in this order."
    )

    @model_validator(mode="after")
    def _files_of_alea(self) -> Self:
        if self.files is not None and self.mode != "alea":
            raise PydanticCustomError("users_files", "has files, which only the mode alea reads")
        if self.reactions and not self.reacts:
            raise PydanticCustomError("users_reactions", "has reactions, which a replay has not")
        return self

    @property
    def reacts(self) -> bool:
        """Whether submissions depend on the schedule."""
        return self.mode != "replay"
